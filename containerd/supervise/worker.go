package supervise

import "deployster/containerd/runfiles"

// Worker is what the supervisor of a worker needs in addition.
type Worker struct {
	Tail     *runfiles.TailReader // what it prints
	Offers   <-chan Offer         // offers to hand it over; nil = it cannot be handed over
	HandOver func(Offer) bool     // hands it over, and reports whether that succeeded
}

// Offer is an offer to hand a worker over; see runner.Process.
type Offer struct {
	Asked, Heard int64
	refused      chan struct{}
}

// NewOffer returns an offer.
func NewOffer(asked, heard int64) Offer { return Offer{asked, heard, make(chan struct{})} }

// Refused is closed when the worker is not handed over.
func (o Offer) Refused() <-chan struct{} { return o.refused }
