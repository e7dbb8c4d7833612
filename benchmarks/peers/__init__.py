"""The systems that recall is compared with, one small module each; they run in their own environment."""
