package runner

import "context"

// Shipment is an image that one store sends to another.
type Shipment struct {
	Name      string `json:"name"`       // full; the digest if the image has no other name
	Digest    string `json:"digest"`     // of its manifest or index
	MediaType string `json:"media_type"` // of the manifest or index
	Size      int64  `json:"size"`       // of the manifest or index, in bytes

	// For a receiver that fetches the image itself by Name and Digest: its platforms, as in
	// linux/arm64, and what its config runs.
	Platforms  []string `json:"platforms,omitempty"`
	Entrypoint []string `json:"entrypoint,omitempty"`
	Cmd        []string `json:"cmd,omitempty"`
}

// Contents gives read access to the contents of images, by digest.
type Contents interface {
	// ReadContent returns up to n bytes of a content from an offset on, and fewer only
	// at the content's end.
	ReadContent(ctx context.Context, digest string, offset int64, n int) ([]byte, error)
}
