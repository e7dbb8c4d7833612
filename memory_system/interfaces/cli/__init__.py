"""The command line, one module per group of commands; README.md says what each prints for programs."""
