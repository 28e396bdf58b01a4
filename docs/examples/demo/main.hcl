# A web site's certificates and the files that speak of them.

variable "domain" {
  type        = string
  default     = "shop.example"
  description = "The site's domain"
}

type "cert" {
  image   = "demo/cert:1"
  network = "none"
}

type "file" {
  image   = "demo/file:1"
  network = "none"
}

# The one directory of this host that the two types may write to.
plug "root" {
  path           = "./site"
  resource_types = ["demo/"]
}

resource "ca" {
  type = type.cert
  config = {
    path        = "ca"
    common_name = "${var.domain} CA"
  }
}

resource "web_cert" {
  type         = type.cert
  dependencies = { ca = resource.ca }
  config = {
    path        = "web"
    common_name = "www.${var.domain}"
    dns_names   = ["www.${var.domain}", var.domain]
    ca          = dep.ca.config.path
  }
}

resource "api_cert" {
  type         = type.cert
  dependencies = { ca = resource.ca }
  config = {
    path        = "api"
    common_name = "api.${var.domain}"
    dns_names   = ["api.${var.domain}"]
    ca          = dep.ca.config.path
  }
}

resource "robots" {
  type = type.file
  config = {
    path    = "htdocs/robots.txt"
    content = "User-agent: *\nDisallow: /cart\n"
  }
}

resource "index" {
  type = type.file
  config = {
    path    = "htdocs/index.html"
    content = "<h1>${var.domain}</h1>\n<p>Signed by ${resource.web_cert.state.issuer}.</p>\n"
  }
}

resource "pins" {
  type = type.file
  config = {
    path = "pins.json"
    content = jsonencode({
      for name, cert in { web = resource.web_cert, api = resource.api_cert } :
      name => { sha256 = cert.state.fingerprint, until = cert.state.not_after }
    })
  }
}

output "ca_fingerprint" {
  value = resource.ca.state.fingerprint
}

output "files" {
  value = [resource.robots.state.path, resource.index.state.path, resource.pins.state.path]
}
