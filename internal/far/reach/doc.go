// Package reach gets to a host: a runner.Host comes in, a far.Client goes out. It
// calls the system's ssh, installs this very program there if it is missing, in the
// same connection, and starts the far end. It owns what is said until the far end
// speaks, and the bundle that is installed.
package reach
