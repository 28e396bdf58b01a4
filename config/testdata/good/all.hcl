deployster {
  required_version = ">= 0.1"
  state            = "deployster.state.json"
}

variable "size" {
  type        = string
  default     = "200gb"
  description = "Disk size"
  validation {
    condition     = endswith(var.size, "gb")
    error_message = "The size must end in gb."
  }
}

variable "password" {
  type      = string
  default   = "open sesame"
  sensitive = true
}

locals {
  zone  = "europe-west1-b"
  names = [for n in ["a", "b"] : "www_${n}"]
}

type "disk" {
  image   = "acme/deployster-gcp-disk:1.2"
  network = "none"
  env     = { PASSWORD = var.password }
  memory  = "256MiB"
}

plug "account" {
  path           = "./sa.json"
  read_only      = true
  resource_names = ["www_.*"]
}

resource "disk" {
  type = type.disk
  config = {
    name     = local.names[0]
    size     = var.size
    password = var.password
  }
}

resource "vm" {
  type         = "acme/deployster-gcp-vm"
  dependencies = { disk = resource.disk }
  config = {
    zone = dep.disk.state.zone
    all  = { for k, v in resource.disk.config : k => v if k != "password" }
    try  = try(resource.disk.state.list[1].x, "none")
    text = <<-EOT
      %{for n in local.names~}
      ${n} ${upper(resource.disk.state.ip)}
      %{endfor~}
    EOT
  }
  lifecycle {
    prevent_destroy = true
    on_remove       = "forget"
  }
  timeouts {
    state = "5m"
  }
}

output "zone" {
  value = resource.vm.state.zone
}

output "password" {
  value     = var.password
  sensitive = true
}
