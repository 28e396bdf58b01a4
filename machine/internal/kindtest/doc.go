// Package kindtest drives a kind in tests as deployster does: it asks for the state, runs
// the actions of the answer, and wants the next answer to keep what the first one promised.
// It gets a kind and configs, and fails the test that gave them.
package kindtest
