package containerd

import (
	"deployster/containerd/images"
	"deployster/containerd/server"
)

// What users of this package see of its rooms.
type (
	ImageInfo       = images.Info
	PackOptions     = images.PackOptions
	PullPhase       = images.PullPhase
	PullProgress    = images.PullProgress
	RegistryOptions = images.RegistryOptions
)

// The phases of a pull.
const (
	PullResolving   = images.PullResolving
	PullVerifying   = images.PullVerifying
	PullDownloading = images.PullDownloading
	PullUnpacking   = images.PullUnpacking
	PullRetrying    = images.PullRetrying
	PullDone        = images.PullDone
	PullFailed      = images.PullFailed
)

// FullName completes a reference as docker does, and gives the digest in it,
// "" where there is none. Its error is a diagnostic.
func FullName(ref string) (full, dgst string, err error) { return images.FullName(ref) }

// WithDigest names one image in the repository of a full name.
func WithDigest(full, dgst string) string { return images.WithDigest(full, dgst) }

// PullReason says in a few words why an attempt failed.
func PullReason(err error) string { return images.PullReason(err) }

// IsServer reports whether this process was started, by its argv[0], as the
// embedded containerd.
func IsServer(argv0 string) bool { return server.Is(argv0) }

// RunServer is the main function of the embedded containerd; args are the
// process's without argv[0]. It gives the exit code.
func RunServer(args []string) int { return server.Run(args) }
