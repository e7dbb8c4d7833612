"""The command line, a module for each group of commands; what each prints for programs is told in README.md."""
