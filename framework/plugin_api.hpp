#pragma once
// The one header that a component under plugins/ includes.

#include "framework/component/adam.hpp"
#include "framework/component/analysis.hpp"
#include "framework/component/copy_task.hpp"
#include "framework/component/init.hpp"
#include "framework/component/model.hpp"
#include "framework/component/numpy_random.hpp"
#include "framework/component/optimizer.hpp"
#include "framework/component/parameter_groups.hpp"
#include "framework/component/position.hpp"
#include "framework/component/task.hpp"
#include "framework/component/warm_up.hpp"
#include "framework/ops/ops.hpp"
#include "framework/registry/plugin.hpp"
#include "framework/registry/registry.hpp"
#include "framework/registry/slot.hpp"
#include "framework/spec/fields.hpp"
