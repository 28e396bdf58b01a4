// Package artifacttest has an artifact.Client and an artifact.Store for tests of those
// that use them: a World of artifacts in memory, which can be changed behind everybody's
// back, and a Store in a directory. It owns nothing that a command uses.
package artifacttest
