package config

import (
	"encoding/json"

	"deployster/config/addresses"
	"deployster/config/decl"
	"deployster/config/edges"
	"deployster/config/ignore"
	"deployster/config/instance"
	"deployster/config/lockfile"
	"deployster/config/results"
	"deployster/config/source"
	"deployster/config/trace"
	"deployster/config/write"
	"deployster/internal/base/diag"
)

// The inputs and the results of the subpackages, for other packages.
type (
	File      = source.File
	Sources   = source.Sources
	Builtins  = source.Builtins
	Instances = source.Instances
	Packages  = source.Packages
	Package   = source.Package

	ArtifactValue = source.ArtifactValue
	SpaceVersion  = source.SpaceVersion
	Pin           = lockfile.Pin
	ModulePin     = lockfile.Module

	RemoteState  = source.RemoteState
	RemoteOutput = source.RemoteOutput

	VarInput = source.VarInput
	VarFlag  = source.VarFlag
	Lock     = lockfile.Lock

	Encryption = decl.Encryption
	Exports    = decl.Exports
	LastConfig = ignore.LastConfig
	Missing    = decl.Missing
	Moved      = decl.Moved
	Removed    = decl.Removed

	Resource      = instance.Resource
	Edge          = instance.Edge
	Origin        = instance.Origin
	OnRemove      = instance.OnRemove
	Timeouts      = instance.Timeouts
	Trigger       = instance.Trigger
	Plug          = instance.Plug
	Retry         = instance.Retry
	Semaphore     = instance.Semaphore
	Exclusive     = instance.Exclusive
	Notify        = instance.Notify
	Secret        = instance.Secret
	Watch         = instance.Watch
	Artifact      = instance.Artifact
	Host          = instance.Host
	Publish       = instance.Publish
	Type          = instance.Type
	PublishInput  = instance.Input
	Pending       = instance.Pending
	States        = instance.States
	ResourceState = instance.ResourceState
	Resolved      = instance.Resolved
	Output        = instance.Output

	Input       = trace.Input
	CheckResult = results.CheckResult
	CheckStatus = results.CheckStatus
	Reach       = edges.Reach
	Blocks      = write.Blocks
)

// Their constants.
const (
	LockName   = lockfile.Name
	NoManifest = source.NoManifest

	PublishPrefix   = addresses.PublishPrefix
	ExclusivePrefix = addresses.ExclusivePrefix

	MaxFileSize = source.MaxFileSize

	FromDependency = instance.FromDependency
	FromReference  = instance.FromReference
	FromSubscribe  = instance.FromSubscribe
	FromDependsOn  = instance.FromDependsOn
	FromType       = instance.FromType
	FromProvides   = instance.FromProvides

	OnRemoveDestroy = instance.OnRemoveDestroy
	OnRemoveForget  = instance.OnRemoveForget

	CheckPass    = results.CheckPass
	CheckFail    = results.CheckFail
	CheckUnknown = results.CheckUnknown
)

// Find reads the manifests: those of the workspace, or of the directories and files
// in args (relative to the workspace). It is an error if there are none. The files of
// flags hold values of variables, and are not manifests whatever their names.
func Find(workspace string, args []string, flags []VarFlag) (Sources, diag.Diagnostics) {
	return source.Find(workspace, args, flags)
}

// FindVariables collects the given values of variables, weakest first:
// DEPLOYSTER_VAR_name of environ, auto files in home/.deployster, auto files in the
// workspace, then the flags in their order.
func FindVariables(workspace, home string, environ []string, flags []VarFlag) ([]VarInput, diag.Diagnostics) {
	return source.FindVariables(workspace, home, environ, flags)
}

// Pinned converts the values that Manifest.Variables returned to an input of Load.
func Pinned(values map[string]json.RawMessage) ([]VarInput, diag.Diagnostics) {
	return source.Pinned(values)
}

// Answered returns the value that a person typed for a variable; it is parsed like
// that of -var.
func Answered(name, text string) VarInput { return source.Answered(name, text) }

// Format returns the canonical form of a manifest or variable file in native syntax.
// It returns errors if the file cannot be parsed; they use the given name.
func Format(name string, src []byte) ([]byte, diag.Diagnostics) { return source.Format(name, src) }

// ReadSource reads a manifest or variable file as Find does: a regular file of a
// limited size. Its error does not include the path.
func ReadSource(path string) ([]byte, error) { return source.ReadSource(path) }

// ReadObject reads a file that holds one object, such as the config of a resource:
// .hcl, .json or .yaml. Errors use the name shown.
func ReadObject(path, shown string) (json.RawMessage, diag.Diagnostics) {
	return source.ReadObject(path, shown)
}

// ReadMarked is ReadObject that also returns the JSON pointers of the values marked by sensitive().
func ReadMarked(path, shown string) (json.RawMessage, []string, diag.Diagnostics) {
	return source.ReadMarked(path, shown)
}

// IsManifest reports whether a file with this name is a manifest.
func IsManifest(name string) bool { return source.IsManifest(name) }

// ReadLock reads the lock file of a directory. It returns nil if there is none.
func ReadLock(dir string) (*Lock, diag.Diagnostics) { return lockfile.Read(dir) }

// IsVariableFile reports whether files of this name are read automatically, such as
// vars.auto.hcl.
func IsVariableFile(name string) bool { return source.IsAutoFile(name) }

// Reference returns a resource's address in the form of messages and expressions:
// resource.web, and module.a.web unchanged.
func Reference(address string) string { return instance.Reference(address) }

// NewBlocks returns an empty manifest, to be written next to one with the given Blocks.
func NewBlocks(taken []string) *Blocks { return write.New(taken) }

// ExclusiveAddress returns the address of an object that an exclusive set destroys.
func ExclusiveAddress(set, identity string) string { return addresses.Exclusive(set, identity) }

// ExclusiveSet returns the name of the exclusive set that destroys what has an address; "" = none does.
func ExclusiveSet(addr string) string { return addresses.ExclusiveSet(addr) }
