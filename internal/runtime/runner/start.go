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

// StartError reports that a cluster did not start a container. Nothing was begun.
type StartError struct {
	Fault StartFault
	Text  string // the words of the cluster, or what is not possible
}

func (e *StartError) Error() string { return string(e.Fault) + ": " + e.Text }
