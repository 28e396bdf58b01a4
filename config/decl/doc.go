// Package decl decodes the blocks of manifests: a Tree of modules, each with its variables,
// resources, types and so on, whose expressions are not evaluated. It owns the tree.
// Its input is a source.Set; its output is the Tree
// with the errors in single blocks. Package validate checks the blocks against each other;
// packages instance and eval expand for_each.
package decl
