"""What the conformance suite wants to find, put around the shipped server from outside. Nothing of
it can be reached from the installed package."""
