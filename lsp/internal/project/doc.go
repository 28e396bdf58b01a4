// Package project holds the manifests that an editor has open and those in the same directories: what each file declares,
// what it refers to, and which directory calls which as a module. Paths and texts come in, a text that the editor
// has not saved before that of the file; declarations, references and the directories of roots go out. It reads
// broken files as far as they can be read.
package project
