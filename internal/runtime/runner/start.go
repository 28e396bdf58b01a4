package runner

// StartFault is why a cluster did not start a container, as the beginning of a sentence.
type StartFault string

// The faults of a start. Nothing was begun after any of them.
const (
	NotStarted  StartFault = "no Pod could be started"
	NotPulled   StartFault = "an image cannot be pulled"
	PodRefused  StartFault = "the cluster refused a Pod"
	PodChanged  StartFault = "the cluster changed the Pod"
	NotPossible StartFault = "this is not possible in a cluster"
	NotPushed   StartFault = "this image is only on this machine"
)

// Advice returns what a user may do after the fault.
func (f StartFault) Advice() string {
	switch f {
	case NotPulled:
		return "See that the nodes of the cluster may pull it: image_pull_secrets and registries in the kubernetes block of the host."
	case PodRefused:
		return "See the rules of the namespace (docs/kubernetes.md), then write in the type block what they require."
	case PodChanged:
		return "See which admission webhooks change Pods of this namespace."
	case NotPossible, NotPushed:
		return "See docs/kubernetes.md for what a Pod needs and can have."
	}
	return "Remove the cause, or give it more time: start_timeout in the kubernetes block of the host."
}

// StartError reports that a cluster did not start a container. Nothing was begun.
type StartError struct {
	Fault StartFault
	Text  string // the words of the cluster, or what is not possible
}

func (e *StartError) Error() string { return string(e.Fault) + ": " + e.Text }
