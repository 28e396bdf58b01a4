// Package decl says what blocks declare: a Tree of modules, each with its variables,
// resources, types and so on, decoded and otherwise as they are written. It owns the
// tree and the values of the root's variables. In goes a source.Set; out comes the
// Tree with what is wrong in single blocks. Whether things fit together is for
// validate; what for_each makes of them is for instance and eval.
package decl
