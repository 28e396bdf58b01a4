// Package memagent is an agent for tests: it has the messages of deployster-pod, and runs Go functions instead
// of programs. It can be killed at each step.
package memagent
