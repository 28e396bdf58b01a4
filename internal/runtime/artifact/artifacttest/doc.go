// Package artifacttest has an artifact.Client and an artifact.Store for tests of their
// users: a World of artifacts in memory, which a test can change at any time, and a Store
// in a directory. No command uses it.
package artifacttest
