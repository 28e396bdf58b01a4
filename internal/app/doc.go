// Package app is the engine as a library: it does what the commands do, for a command
// line, a test, a watcher or a server to call.
//
// It owns the order in which inputs are read, images obtained, and a plan made, approved
// and applied, and what is reported meanwhile. Plain options come in with a context;
// plans, reports and errors go out, events and diagnostics on the way. It knows no
// flags and draws nothing.
package app
