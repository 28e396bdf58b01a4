// Package resolving records how an action ended whose end deployster cannot find out: an
// engine and what a person states come in, the change of the state goes out.
package resolving
