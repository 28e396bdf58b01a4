package schema

// The attributes and blocks that each block may have.
var (
	Deployster = attributes("required_version", "state", "adopt", "auto_edges").with("encryption", Encryption).
			with("exports", Exports)
	Exports     = attributes("recipients!")
	RemoteState = attributes("url!").hinting(remoteHints, nil)
	Encryption  = attributes("enabled", "passphrase_env", "passphrase_file", "old_passphrase_env", "old_passphrase_file",
		"recipients", "identity_files")
	Type = attributes("image!", "pull", "network", "env", "memory", "cpu", "pids", "workers", "watchers", "disk",
		"mount_workspace", "host", "read_only_rootfs", "user", "userns", "answer_size", "log_size", "defaults", "whole_machine").
		with("verify", Verify).with("timeouts", TypeTimeouts).with("capabilities", Capabilities).with("watch", Watch)
	Verify       = attributes("key!", "repository")
	TypeTimeouts = attributes("init", "state", "action")
	Capabilities = attributes("add", "drop")
	Plug         = attributes("path", "artifact", "content", "read_only", "resource_names", "resource_types")
	Host         = attributes("address!", "user", "port", "identity_file", "jump", "host_key", "ssh_options", "sudo", "data_dir",
		"undo_unless_reached", "labels", "for_each", "count").with("kubernetes", Kubernetes).hinting(hostHints, nil)
	Kubernetes = attributes("namespace!", "agent!", "context", "kubeconfig", "service_account", "image_pull_secrets", "registries",
		"node_selector", "tolerations", "labels", "annotations", "priority_class", "runtime_class", "cpu", "memory", "max_pods",
		"start_timeout", "stop_timeout", "network_policy").hinting(kubernetesHints, nil)
	Output = attributes("value!", "type", "description", "sensitive", "deprecated", "depends_on", "export").
		with("precondition", Condition).hinting(valueHints, nil)
	Variable = attributes("type", "default", "description", "sensitive", "nullable", "deprecated", "const").
			with("validation", Condition).hinting(valueHints, nil)
	Resource = attributes("type!", "for_each", "count", "enabled", "config", "dependencies", "depends_on", "subscribe", "semaphores",
		"host", "read_only").with("lifecycle", Lifecycle).with("timeouts", Timeouts).with("retry", Retry).
		with("watch", Watch).hinting(resourceHints, resourceHint)
	Lifecycle = attributes("prevent_destroy", "on_remove", "ignore_changes", "adopt", "create_before_destroy",
		"replace_triggered_by").
		with("precondition", Condition).with("postcondition", Condition)
	Timeouts         = attributes("state", "action")
	Retry            = attributes("attempts", "delay")
	Watch            = attributes("poll", "repair", "actions")
	Semaphore        = attributes("slots")
	Exclusive        = attributes("type!", "host", "keep", "config")
	Policy           = attributes("level!", "type", "config").with("rule", Rule).hinting(policyHints, nil)
	Rule             = attributes("deny!", "message!").hinting(ruleHints, nil)
	Condition        = attributes("condition!", "error_message!")
	Check            = attributes("gate").with("assert", Condition).withNamed("resource", Lookup).hinting(checkHints, nil)
	Lookup           = attributes("type!", "config")
	Moved            = attributes("from!", "to!")
	Removed          = attributes("from!", "to").with("lifecycle", RemovedLifecycle)
	RemovedLifecycle = attributes("destroy")
	Artifact         = attributes("type!", "source", "params", "space", "version", "passed").with("timeouts", ArtifactTimeouts)
	Publish          = attributes("artifact!", "params", "inputs", "triggers", "depends_on", "idempotent", "fetch").
				with("timeouts", PublishTimeouts)
	ArtifactTimeouts = attributes("check", "get")
	PublishTimeouts  = attributes("put")
	Cluster          = Host.optional("address")
	Module           = attributes().with("verify", Verify) // and arguments of any names
	Notify           = attributes("type!", "on!", "config", "params")
	Secret           = attributes("type!", "config", "compare")
	Operation        = attributes("resource!", "run!", "input", "schedule!")
)
