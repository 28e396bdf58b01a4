variable "ns" { default = "deployster" }
host "both" {
  address = "10.0.0.5"
  sudo    = true
  kubernetes {
    namespace = var.ns
    agent     = "r.example/deployster-pod@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
  }
}
host "none" {
  kubernetes {}
}
host "wrong" {
  kubernetes {
    namespace          = "Not_A_Name"
    agent              = "r.example/deployster-pod:1"
    context            = ""
    kubeconfig         = ""
    service_account    = "a b"
    image_pull_secrets = ["ok", "Not"]
    registries         = { "https://docker.io" = "mirror.example" }
    node_selector      = { "a b" = "c" }
    tolerations        = [{ kye = "ops" }]
    labels             = { "deployster.io/run" = "x" }
    annotations        = { "-" = "x" }
    priority_class     = "Batch"
    runtime_class      = "Gvisor"
    cpu                = 0
    memory             = "1KiB"
    max_pods           = 0
    start_timeout      = "10"
    stop_timeout       = "1ms"
    network_policy     = "maybe"
    image              = "x"
  }
}
host "late" {
  kubernetes {
    namespace = resource.vm.state.ns
    agent     = "r.example/deployster-pod@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
  }
}
host "null" {
  kubernetes {
    namespace = null
    agent     = "r.example/deployster-pod@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
  }
}
host "twice" {
  kubernetes {
    namespace = "a"
    agent     = "r.example/deployster-pod@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
  }
  kubernetes {
    namespace = "b"
    agent     = "r.example/deployster-pod@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
  }
}
host "neither" { labels = {} }
resource "vm" { type = "acme/vm:1" }
# error 3:3 Conflicts with kubernetes
# error 4:3 Conflicts with kubernetes
# error 11:14 Missing required argument
# error 11:14 Missing required argument
# error 15:26 Invalid
# error 16:26 Invalid
# error 17:26 Invalid
# error 18:26 Invalid
# error 19:26 Invalid
# error 20:26 Invalid
# error 21:26 Invalid
# error 22:26 Invalid
# error 23:26 Invalid
# error 24:26 Invalid
# error 25:26 Invalid
# error 26:26 Invalid
# error 27:26 Invalid
# error 28:26 Invalid
# error 29:26 Invalid
# error 30:26 Invalid
# error 31:26 Invalid
# error 32:26 Invalid
# error 33:26 Invalid
# error 34:5 Unsupported argument
# error 39:17 Known too late
# error 45:17 Invalid namespace
# error 54:3 Declared twice
# error 59:18 Missing required argument
