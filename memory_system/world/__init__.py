"""A world: the agents that share a folder and a clock, who may see them, and the branches they rehearse on."""
