"""Memory for any client of the Model Context Protocol: the tools, and the server that offers them."""
