"""Who may do what, for how long, and which change wins. Pure."""
