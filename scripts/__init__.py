"""What writes the files of this repository that are derived from others."""
