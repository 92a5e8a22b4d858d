#include "probe/observe.h"
namespace rollcall::probe {}
