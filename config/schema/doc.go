// Package schema has what may stand in each block of a manifest: its attributes and its
// blocks. The input of a Schema is an error about a name that may not stand there, to which
// it adds what to write instead; its output for programs that help people to write
// manifests is a Syntax. Package decl reads blocks by these schemas.
package schema
