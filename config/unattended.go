package config

import (
	"deployster/config/eval"
	"deployster/config/instance"
)

// Operation is an operation block.
type Operation = instance.Operation

// Unattended are the blocks of a manifest whose images run in addition to the resources.
type Unattended struct {
	of      *eval.Modules
	lookups []*Resource
}

// Lookups returns the resources that checks read, sorted by address: check.CHECK.NAME, with the module before it.
func (u Unattended) Lookups() []*Resource { return u.lookups }

// Notify returns the declared notify blocks, sorted by name.
func (u Unattended) Notify() []Notify { return u.of.Notify }

// Operations returns the declared operation blocks, sorted by name.
func (u Unattended) Operations() []Operation { return u.of.Operations }

// Secrets returns the declared secret blocks, sorted by name.
func (u Unattended) Secrets() []Secret { return u.of.SecretBlocks }
