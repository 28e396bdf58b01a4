// Package original converts manifests of the original deployster: YAML with expressions in
// Jinja2 comes in, manifests in HCL go out, with a comment where something has no
// counterpart. It reads and writes no files.
package original
