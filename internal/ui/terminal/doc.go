// Package terminal shows people what happens and prompts them, on a terminal or in
// a log.
//
// It owns the bytes that reach a person: it hides secrets, and no output can control a
// terminal. Rendered texts, diagnostics and events come in; text goes out, and answers
// come back. It decides nothing, and knows no command.
package terminal
