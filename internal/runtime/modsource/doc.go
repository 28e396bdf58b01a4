// Package modsource reads the sources of modules that come from a registry or a repository of git.
// The text of a source comes in; an Address, or why it is not valid, goes out.
package modsource
