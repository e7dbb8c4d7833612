"""Values and small rules that everything else is written in. Nothing here reads a store or asks a model."""
