// Package runnertest has tools for tests that use a runner.Runner: a Fake that runs Go
// functions instead of containers, a World of things that a type manages, and the Suite
// of tests that every Runner must pass, the Fake and the real one alike.
package runnertest
