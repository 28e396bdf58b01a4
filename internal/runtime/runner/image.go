package runner

import "fmt"

// PullPolicy reports when deployster queries a registry for an image.
type PullPolicy string

// The policies. "" is PullMissing.
const (
	PullMissing PullPolicy = "missing" // when this machine does not have the image
	PullAlways  PullPolicy = "always"  // at each plan: the tag may have moved
	PullNever   PullPolicy = "never"   // never
)

// Verify reports whose signature an image must carry.
type Verify struct {
	Keys       []byte `json:"keys"`                 // one or more public keys in PEM; a signature by any of them suffices
	KeyName    string `json:"name"`                 // where the keys come from, for messages
	Repository string `json:"repository,omitempty"` // the repository that the signature must name; "" = the image's own
	Module     bool   `json:"-"`                    // a module block requires it, and no type
}

// Wanted is an image that is needed, and the conditions for it.
type Wanted struct {
	Reference string // as the user wrote it
	Pull      PullPolicy
	Digest    string  // the digest that it must have, "sha256:..."; "" = any
	Verify    *Verify // nil = no signature is needed
	Remote    bool    // only hosts run it that fetch it themselves: its layers are not fetched here
	Force     bool    // if the name refers to another image here, point it to Digest
}

// DigestError reports that the name of an image refers to another digest than the one that
// was requested.
type DigestError struct {
	Reference  string
	Have, Want string // digests
	InRegistry bool   // Have is the registry's digest; otherwise this machine's
}

func (e *DigestError) Error() string {
	where := "here"
	if e.InRegistry {
		where = "in its registry"
	}
	return fmt.Sprintf("%s is %s %s, and not %s", e.Reference, e.Have, where, e.Want)
}
