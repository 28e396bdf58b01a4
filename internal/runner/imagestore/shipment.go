package imagestore

import "context"

// Shipment is an image that one store sends to another.
type Shipment struct {
	Name      string `json:"name"`       // full; the digest where it has no other
	Digest    string `json:"digest"`     // of its manifest or index
	MediaType string `json:"media_type"` // of that
	Size      int64  `json:"size"`       // of that, in bytes
}

// Contents are what images are made of, by digest.
type Contents interface {
	// ReadContent returns up to n bytes of a content from an offset on, fewer only at
	// its end.
	ReadContent(ctx context.Context, digest string, offset int64, n int) ([]byte, error)
}
