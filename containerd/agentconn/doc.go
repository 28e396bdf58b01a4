// Package agentconn is the client's end of the connection to the agent in a container: it
// finds and installs the agent's program, and sends requests and reads replies over a socket.
package agentconn
