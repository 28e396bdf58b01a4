package podspec

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"deployster/internal/runtime/runner"
	"deployster/internal/runtime/runner/imagestore"
)

// The names of labels and annotations.
const (
	LabelManaged = "app.kubernetes.io/managed-by"
	Managed      = "deployster"
	LabelLineage = "deployster.io/lineage"
	LabelRun     = "deployster.io/run"
	LabelKind    = "deployster.io/kind"
	LabelHost    = "deployster.io/host"    // its name, with - for what a label cannot have
	LabelNetwork = "deployster.io/network" // "none": the NetworkPolicy Policy selects it

	AnnotationName  = "deployster.io/name"
	AnnotationEpoch = "deployster.io/epoch"
)

// Policy is the NetworkPolicy of Pods without a network.
const Policy = "deployster-none"

// Container is the name of the container of the type's image, and Agent that of the init container.
const (
	Container = "type"
	Agent     = "agent"
)

// Program is the path of deployster-pod in the container of the type.
const Program = "/.deployster/deployster-pod"

// The defaults of a cluster.
const (
	defaultCPU         = 100  // thousandths: the request, which the scheduler finds room for
	defaultMostCPU     = 1000 // the limit: with the request alone, a worker would mostly be stopped
	defaultMemory      = 256 << 20
	defaultDisk        = 1 << 30
	defaultMaxPods     = 20
	defaultStopTimeout = 10 * time.Minute
	defaultStart       = 5 * time.Minute
	queryGrace         = 5 // seconds
)

// MaxPods returns how many Pods a command may have at a time.
func MaxPods(c runner.Cluster) int { return cmp.Or(c.MaxPods, defaultMaxPods) }

// StartTimeout returns how long a Pod may take from its creation until it runs.
func StartTimeout(c runner.Cluster) time.Duration {
	return cmp.Or(time.Duration(c.StartTimeout)*time.Second, defaultStart)
}

// Order is a Pod that is wanted.
type Order struct {
	Cluster  runner.Cluster
	Host     string // its name
	Image    runner.Shipment
	Settings runner.Settings
	Mounts   []runner.Mount
	Files    map[string]Files // of artifacts, which mounts name by their keys
	Acts     bool             // it runs actions

	Name    string // of the Pod
	For     string // the invocation, for people
	Lineage string // a label's value
	Run     string // a label's value
	Epoch   int64
	Try     string // identifies the call that creates it
}

// Pod returns the Pod of an order, or what a Pod cannot have.
func (o Order) Pod(annotationTry string) (*core.Pod, error) {
	if err := Refuses(o.Cluster, o.Settings); err != nil {
		return nil, err
	}
	image, err := Image(o.Cluster, o.Image)
	if err != nil {
		return nil, err
	}
	volumes, mounts, err := o.plugs()
	if err != nil {
		return nil, err
	}
	context, pod, err := security(o.Settings)
	if err != nil {
		return nil, err
	}
	affinity, err := architectures(o.Image)
	if err != nil {
		return nil, err
	}
	limits := o.resources()
	files, receive, err := o.files(limits)
	if err != nil {
		return nil, err
	}
	grace := int64(queryGrace)
	if o.Acts {
		grace = int64(cmp.Or(time.Duration(o.Cluster.StopTimeout)*time.Second, defaultStopTimeout) / time.Second)
	}
	volumes = append(append(volumes, files...), memory("agent", 16<<20), memory("run", 1<<20))
	mounts = append(mounts, core.VolumeMount{Name: "agent", MountPath: "/.deployster", ReadOnly: true},
		core.VolumeMount{Name: "run", MountPath: "/.deployster-run"})
	if o.Settings.ReadOnlyRootFS {
		volumes = append(volumes, memory("tmp", 64<<20))
		mounts = append(mounts, core.VolumeMount{Name: "tmp", MountPath: "/tmp"})
	}
	token, links := o.Cluster.ServiceAccount != "", false
	spec := core.PodSpec{
		RestartPolicy:                 core.RestartPolicyNever,
		ServiceAccountName:            o.Cluster.ServiceAccount,
		AutomountServiceAccountToken:  &token,
		EnableServiceLinks:            &links,
		TerminationGracePeriodSeconds: &grace,
		SecurityContext:               pod,
		Affinity:                      affinity,
		NodeSelector:                  o.Cluster.NodeSelector,
		PriorityClassName:             o.Cluster.PriorityClass,
		Volumes:                       volumes,
		InitContainers: append([]core.Container{{Name: Agent, Image: o.Cluster.Agent, Args: []string{"copy", "/.deployster"},
			Resources:       limits,
			ImagePullPolicy: core.PullIfNotPresent, SecurityContext: agentSecurity(),
			VolumeMounts: []core.VolumeMount{{Name: "agent", MountPath: "/.deployster"}}}}, receive...),
		Containers: []core.Container{{Name: Container, Image: image, Command: o.serve(grace), Resources: limits,
			ImagePullPolicy: core.PullIfNotPresent, SecurityContext: context, VolumeMounts: mounts}},
	}
	if o.Settings.UserNS == runner.AutoUserNS {
		host := false
		spec.HostUsers = &host
	}
	if o.Cluster.RuntimeClass != "" {
		spec.RuntimeClassName = &o.Cluster.RuntimeClass
	}
	for _, name := range o.Cluster.ImagePullSecrets {
		spec.ImagePullSecrets = append(spec.ImagePullSecrets, core.LocalObjectReference{Name: name})
	}
	for _, t := range o.Cluster.Tolerations {
		spec.Tolerations = append(spec.Tolerations, core.Toleration{Key: t.Key, Operator: core.TolerationOperator(t.Operator),
			Value: t.Value, Effect: core.TaintEffect(t.Effect), TolerationSeconds: t.Seconds})
	}
	return &core.Pod{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: o.meta(annotationTry), Spec: spec}, nil
}

// serve returns the command of the agent: what it gets when the Pod is deleted, and how many workers it may have, one for
// each whole processor.
func (o Order) serve(grace int64) []string {
	return []string{Program, "serve", fmt.Sprintf("-stop=%ds", grace), fmt.Sprintf("-workers=%d", max(o.cpu(defaultMostCPU)/1000, 1))}
}

// cpu returns what each container gets, in thousandths of a processor: what the type or the block has, or a default.
func (o Order) cpu(without int64) int64 {
	return cmp.Or(o.Settings.CPU, int64(o.Cluster.CPU*1000), without)
}

// meta returns the name, labels and annotations of the Pod.
func (o Order) meta(annotationTry string) meta.ObjectMeta {
	labels, annotations := map[string]string{}, map[string]string{}
	maps.Copy(labels, o.Cluster.Labels)
	maps.Copy(annotations, o.Cluster.Annotations)
	kind := runner.Query
	if o.Acts {
		kind = runner.Action
	}
	maps.Copy(labels, map[string]string{LabelManaged: Managed, LabelRun: o.Run, LabelKind: string(kind)})
	if host := labelValue(o.Host); host != "" {
		labels[LabelHost] = host
	}
	if o.Lineage != "" {
		labels[LabelLineage] = o.Lineage
	}
	if o.Settings.Network == runner.NoNetwork {
		labels[LabelNetwork] = string(runner.NoNetwork)
	}
	maps.Copy(annotations, map[string]string{
		AnnotationName: o.For, AnnotationEpoch: strconv.FormatInt(o.Epoch, 10), annotationTry: o.Try,
		"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true",
	})
	return meta.ObjectMeta{Name: o.Name, Labels: labels, Annotations: annotations}
}

// labelValue returns a text as the value of a label can have it.
func labelValue(text string) string {
	const longest, letters = 63, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune(letters+"-_.", r) {
			return r
		}
		return '-'
	}, text)
	return strings.Trim(text[:min(len(text), longest)], "-_.")
}

// resources returns the limits of each container, which are its requests too. Only the processor has a smaller request where nobody has
// declared it.
func (o Order) resources() core.ResourceRequirements {
	list := core.ResourceList{
		core.ResourceCPU:              *resource.NewMilliQuantity(o.cpu(defaultMostCPU), resource.DecimalSI),
		core.ResourceMemory:           *resource.NewQuantity(cmp.Or(o.Settings.Memory, o.Cluster.Memory, defaultMemory), resource.BinarySI),
		core.ResourceEphemeralStorage: *resource.NewQuantity(cmp.Or(o.Settings.Disk, defaultDisk), resource.BinarySI),
	}
	requests := list.DeepCopy()
	requests[core.ResourceCPU] = *resource.NewMilliQuantity(o.cpu(defaultCPU), resource.DecimalSI)
	return core.ResourceRequirements{Limits: list, Requests: requests}
}

// Image returns the name by which nodes pull an image: its repository as registries rewrite it, and its digest.
func Image(c runner.Cluster, s runner.Shipment) (string, error) {
	name := imagestore.WithDigest(s.Name, s.Digest)
	if imagestore.IsDigest(name) {
		return "", fmt.Errorf("the image %s is only on this machine: nodes of a cluster pull images from a registry", s.Name)
	}
	longest := ""
	for prefix := range c.Registries {
		if rest, is := strings.CutPrefix(name, prefix); is && (rest[0] == '/' || rest[0] == '@') && len(prefix) > len(longest) {
			longest = prefix
		}
	}
	if longest != "" {
		name = c.Registries[longest] + strings.TrimPrefix(name, longest)
	}
	return name, nil
}

// AgentArchitectures are those that the image of deployster-pod has.
func AgentArchitectures() []string { return []string{"amd64", "arm64"} }

// architectures returns on which nodes an image can run.
func architectures(s runner.Shipment) (*core.Affinity, error) {
	values := AgentArchitectures()
	if len(s.Platforms) > 0 {
		values = slices.DeleteFunc(values, func(arch string) bool {
			return !slices.ContainsFunc(s.Platforms, func(platform string) bool {
				os, rest, _ := strings.Cut(platform, "/")
				first, _, _ := strings.Cut(rest, "/")
				return os == "linux" && first == arch
			})
		})
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("the image %s is for %s, and deployster-pod is for linux/%s", s.Name, strings.Join(s.Platforms, ", "),
			strings.Join(AgentArchitectures(), " and linux/"))
	}
	return &core.Affinity{NodeAffinity: &core.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &core.NodeSelector{
		NodeSelectorTerms: []core.NodeSelectorTerm{{MatchExpressions: []core.NodeSelectorRequirement{
			{Key: core.LabelArchStable, Operator: core.NodeSelectorOpIn, Values: values},
		}}},
	}}}, nil
}

// memory returns a volume in memory.
func memory(name string, size int64) core.Volume {
	return core.Volume{Name: name, VolumeSource: core.VolumeSource{EmptyDir: &core.EmptyDirVolumeSource{
		Medium: core.StorageMediumMemory, SizeLimit: resource.NewQuantity(size, resource.BinarySI)}}}
}

// Refuses returns what settings declare that a Pod cannot have.
func Refuses(c runner.Cluster, s runner.Settings) error {
	switch {
	case s.WholeMachine:
		return errors.New("a Pod never has the whole machine")
	case s.PIDs != 0:
		return errors.New("pids cannot be limited in a cluster: the kubelet of each node limits them")
	case s.Workdir != "":
		return errors.New("the working directory cannot be mounted in a cluster")
	case s.Network == runner.NoNetwork && !c.NetworkPolicy:
		return fmt.Errorf("a Pod without a network needs network_policy = true in the host block, and the NetworkPolicy %s", Policy)
	}
	_, _, err := numbers(s.User)
	return err
}
