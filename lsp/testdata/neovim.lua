-- What a person does in Neovim with the config of docs/editors.md. Each step that fails ends with its name.
local function step(name, good, got)
  if not good then
    io.stderr:write("FAILED " .. name .. ": " .. vim.inspect(got) .. "\n")
    vim.cmd("cquit 1")
  end
end

local function wait(name, what)
  local got
  local good = vim.wait(30000, function()
    got = what()
    return got
  end, 20)
  step(name, good, got)
  return got
end

local function find(text)
  for i, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local at = line:find(text, 1, true)
    if at then
      vim.api.nvim_win_set_cursor(0, { i, at - 1 })
      return
    end
  end
  step("find " .. text, false, vim.api.nvim_buf_get_lines(0, 0, -1, false))
end

local function answer(method)
  local all = vim.lsp.buf_request_sync(0, method, vim.lsp.util.make_position_params(), 30000)
  for _, one in pairs(all or {}) do
    return one.result
  end
end

local function messages()
  local list = {}
  for _, d in ipairs(vim.diagnostic.get(0)) do
    table.insert(list, d.message)
  end
  return list
end

vim.cmd("edit main.hcl")
wait("the server is attached", function()
  return #vim.lsp.buf_get_clients(0) > 0 or nil
end)

-- An error of a text that is not saved, behind characters of several units, and its fix.
vim.api.nvim_buf_set_lines(0, -1, -1, false, { 'output "o" {', '  value = "😀😀 ${resource.wbe.state.path}"', "}" })
local wrong = wait("the error comes", function()
  local list = vim.diagnostic.get(0)
  return #list == 1 and list[1] or nil
end)
local line = vim.api.nvim_buf_get_lines(0, wrong.lnum, wrong.lnum + 1, false)[1]
step("the place of the error", line:sub(wrong.col + 1, wrong.end_col):match("^resource%.wbe") ~= nil, { wrong, line })
vim.api.nvim_win_set_cursor(0, { wrong.lnum + 1, wrong.col })
local params = vim.lsp.util.make_range_params()
params.context = { diagnostics = vim.lsp.diagnostic.get_line_diagnostics() }
local fixes = {}
for _, one in pairs(vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 30000) or {}) do
  fixes = one.result
end
step("there is a fix", #fixes == 1 and fixes[1].title == "Change wbe to web", fixes)
vim.lsp.util.apply_workspace_edit(fixes[1].edit, "utf-16")
wait("the error goes", function()
  return #messages() == 0 or nil
end)

-- Completion, hover and definition.
find("state.path")
local items = answer("textDocument/completion").items
step("completion", #items > 0 and vim.inspect(items):find("resource.web.state", 1, true) ~= nil, items)
find("web.state")
step("hover", vim.inspect(answer("textDocument/hover")):find("Something", 1, true) == nil, nil)
step("hover of a reference", answer("textDocument/hover").contents.value:find("resource.web", 1, true) ~= nil, answer("textDocument/hover"))
local places = answer("textDocument/definition")
step("definition", #places == 1 and places[1].range.start.line == 1, places)

-- Rename writes moved.
vim.lsp.buf.rename("site")
wait("the rename", function()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n"):find("to   = resource.site", 1, true) and true or nil
end)
wait("no error after the rename", function()
  return #messages() == 0 or nil
end)

vim.lsp.buf.formatting_sync(nil, 30000)
vim.cmd("write")
local clients = vim.lsp.get_active_clients()
vim.lsp.stop_client(clients)
wait("the server ends", function()
  return #vim.lsp.get_active_clients() == 0 or nil
end)
vim.cmd("qall")
