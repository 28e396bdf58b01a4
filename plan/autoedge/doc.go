// Package autoedge finds the edges that follow from what types declare, and that no manifest
// declares. It takes resources with their types, and returns edges.
package autoedge
