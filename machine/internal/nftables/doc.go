// Package nftables has the kind nftables: one table of the packet filter. It replaces its table in
// one transaction, has a unit load it at boot, and never touches the tables of others.
package nftables
