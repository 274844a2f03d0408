"""The command line behind `python -m jaxshap explain`."""
