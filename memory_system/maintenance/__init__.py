"""What keeps a world usable: backup, restore, doctor, samples, and memories moved in and out."""
