// Package ssh connects to a host: a runner.Host comes in, a far.Client goes out. It
// calls the system's ssh, installs this very program on the host if it is missing, over
// the same connection, and starts the agent. It owns the exchange with the host's
// shell before the agent speaks, and the bundle that is installed.
package ssh
