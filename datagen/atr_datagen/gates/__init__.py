"""What sources and episodes are held against."""
