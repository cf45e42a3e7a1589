"""What lets other libraries keep their state in a store of this one; each needs an extra of its own."""
