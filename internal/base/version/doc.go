// Package version holds which version of deployster its programs are. The linker's flags come in; all programs
// of one build have the same.
package version
