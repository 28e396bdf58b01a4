// Package terminal shows people what goes on and asks them, on a terminal or in a
// log.
//
// It owns the bytes that reach a person: secrets are taken out and nothing steers a
// terminal. What was rendered, diagnostics and events come in; text goes out, and
// answers come back. It decides nothing, and knows no command.
package terminal
