// Package git has the kind git: a tree that is checked out of a repository. It uses the machine's
// own git, as the user to whom the tree belongs: what the tree configures never runs as another.
package git
