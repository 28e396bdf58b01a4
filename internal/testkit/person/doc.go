// Package person makes a user of this machine who is not root, for tests that run as such a user: with a
// home directory and subordinate ids, as a person has. The user, all files and the check that no process
// is left end with the test.
package person
