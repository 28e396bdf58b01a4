package imagestore

import (
	"time"

	"deployster/internal/base/imagefiles"
)

// Image is an image on this machine.
type Image struct {
	Name    string    `json:"name"`           // the full name; the digest if the image has no other name
	Digest  string    `json:"digest"`         // of its manifest or index
	Size    int64     `json:"size"`           // of its content as it is stored, compressed
	Created time.Time `json:"created"`        // when its manifest or index came to this machine
	From    string    `json:"from,omitempty"` // the name it was pulled by; "" = it was packed or imported
}

// LabelReadOnly is the label of an image whose containers have a read-only root file system unless
// the type block declares otherwise: what its programs write outside of plugs must not be taken for made.
const LabelReadOnly = "org.deployster.read-only"

// PackOptions declare how to build a new image.
type PackOptions struct {
	Reference string          // the new image's name
	Dir       string          // the directory with its files; "" = none
	Files     *imagefiles.Set // more files; nil = none
	Base      string          // an image on this machine that the new one extends; "" = none
	Portable  bool            // it is for all platforms: nothing of it is run

	Entrypoint []string          // nil = the base's; otherwise it also drops the base's Cmd
	Cmd        []string          // nil = the base's
	Env        map[string]string // added to the base's
	Labels     map[string]string // added to the base's
	User       string            // "" = the base's
	WorkingDir string            // "" = the base's
}

// Phase is the present step of a pull.
type Phase string

// The phases, in their order; a pull that is retried begins again.
const (
	Resolving   Phase = "resolving"
	Verifying   Phase = "verifying"
	Downloading Phase = "downloading"
	Unpacking   Phase = "unpacking"
	Retrying    Phase = "retrying"
	Done        Phase = "done"
	Failed      Phase = "failed"
)

// Progress is the progress of the pull of one image.
type Progress struct {
	Reference   string // as a user would write it
	Phase       Phase
	Done, Total int64         // bytes of the missing layers; 0 of 0 before they are known
	Reason      string        // why the last attempt failed, in a few words; set while retrying and at the end
	Pause       time.Duration // until the next attempt, while retrying
}
