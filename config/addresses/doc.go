// Package addresses owns the forms of addresses: of resources, modules, publishes and what exclusive sets destroy. A
// traversal or a text comes in; the address goes out as plans print it.
package addresses
