// Package write creates manifests: it takes configs, and returns files of resource blocks.
package write
